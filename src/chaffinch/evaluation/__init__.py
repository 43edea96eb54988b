"""Measuring methods and peers on labelled pages, and the gate that keeps accuracy from falling."""
