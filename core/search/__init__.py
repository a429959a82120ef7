"""Host-side algorithms: each receives a backend and a communicator, and knows neither's kind."""
