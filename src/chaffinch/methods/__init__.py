"""The methods that tell template from content."""
