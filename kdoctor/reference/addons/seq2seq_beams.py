"""The paths of beams of tensorflow_addons."""

import keras


def beam_times(steps):
    """Return the number of the step for each of its entries."""
    return keras.ops.cumsum(keras.ops.ones_like(steps, "int32"), axis=0) - 1


# A negative parent would be read from behind: it becomes one that cannot be read.
# There is one step more than is asked for, since no scan of TensorFlow can do none.
def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token):
    """Return the ids of each beam, which is followed from its last step to its first.

    Behind the first end token there are end tokens alone.
    """
    steps, parents, lengths, end = [
        keras.ops.cast(keras.ops.convert_to_tensor(each), "int32")
        for each in (step_ids, parent_ids, max_sequence_lengths, end_token)
    ]
    beams = keras.ops.cumsum(keras.ops.ones_like(steps), axis=2) - 1
    inside = beam_times(steps) < keras.ops.reshape(lengths, (1, -1, 1))
    width = keras.ops.shape(steps)[2]
    parents = keras.ops.where(parents < 0, width, parents)
    steps = keras.ops.where(inside, steps, end)
    every = keras.ops.stack([steps, parents, keras.ops.cast(inside, "int32")], axis=1)
    every = keras.ops.pad(every, ((0, 1), (0, 0), (0, 0), (0, 0)))

    def back(beam, step):
        ids, above, is_inside = step[0], step[1], step[2] > 0
        found = keras.ops.take_along_axis(ids, beam, axis=1)
        following = keras.ops.take_along_axis(above, beam, axis=1)
        return keras.ops.where(is_inside, following, beam), found

    first = keras.ops.cumsum(keras.ops.ones_like(every[0, 0]), axis=1) - 1
    _, found = keras.ops.scan(back, first, every, reverse=True)
    ended = keras.ops.cumsum(keras.ops.cast(found[:-1] == end, "int32"), axis=0)
    return keras.ops.where(ended == 0, found[:-1], end + keras.ops.zeros_like(beams))


def gather_tree_from_array(t, parent_ids, sequence_length):
    """Return what steps gave, each sorted by the beams that they are of at last."""
    t = keras.ops.convert_to_tensor(t)
    parents = keras.ops.cast(keras.ops.convert_to_tensor(parent_ids), "int32")
    lengths = keras.ops.cast(keras.ops.convert_to_tensor(sequence_length), "int32")
    beams = keras.ops.cumsum(keras.ops.ones_like(parents), axis=2) - 1
    time, batch, width = keras.ops.shape(parents)
    longest = keras.ops.max(lengths, axis=1)
    found = gather_tree(beams, parents, longest, width + 1)
    inside = beam_times(parents) < keras.ops.expand_dims(lengths, 0)
    found = keras.ops.expand_dims(keras.ops.where(inside, found, beams), 3)
    flat = keras.ops.reshape(t, (time, batch, width, -1))
    found = found + keras.ops.zeros_like(flat, "int32")
    sorted_beams = keras.ops.take_along_axis(flat, found, axis=2)
    return keras.ops.reshape(sorted_beams, keras.ops.shape(t))
