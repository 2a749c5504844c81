"""JAXJob of the training operator."""
