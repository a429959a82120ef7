"""Problem instances: loaders, generators and the plain NumPy scorers that every result is checked against."""
