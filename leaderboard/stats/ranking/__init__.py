"""From ratings to standings: the methods side by side, rows, and the sentences that go with them."""
