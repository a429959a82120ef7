"""The site: its pages, what they show, and the pictures that are drawn for them."""
