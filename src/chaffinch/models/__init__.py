"""Trained weights: what a model file holds, and the models that are shipped."""

from chaffinch.models.files import Model, load_model, read_model, write_model

__all__ = ["Model", "load_model", "read_model", "write_model"]
