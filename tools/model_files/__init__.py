"""Files of every release of Keras, and what Keras 3 and kdoctor say of each."""
