"""What is learned from whole crawls for use on sites never seen."""
