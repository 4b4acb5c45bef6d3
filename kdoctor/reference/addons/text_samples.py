"""What tensorflow_addons had for texts in datasets: pairs of words, and times."""

import csv
import re

import numpy as np
import tensorflow as tf


def usual_words(words, table, min_count, subsampling, corpus_size, seed):
    """Return the words that a table counts often enough, and not too often."""
    words = tf.convert_to_tensor(words)
    if table is None:
        return words
    if not isinstance(table, tf.lookup.StaticHashTable):
        message = f"vocab_freq_table must be a StaticHashTable: {type(table)}"
        raise ValueError(message)
    counts = table.lookup(words)
    is_kept = tf.not_equal(counts, table.default_value)
    if min_count is not None:
        is_kept &= counts >= tf.cast(min_count, counts.dtype)
    words = tf.boolean_mask(words, is_kept)
    if not subsampling:
        return words
    if not 0 <= subsampling <= 1:
        raise ValueError(f"vocab_subsampling={subsampling} is to be from 0 to 1")
    counts = tf.cast(tf.boolean_mask(counts, is_kept), tf.float64)
    least = tf.cast(subsampling, tf.float64) * tf.cast(corpus_size, tf.float64)
    share = (tf.sqrt(counts / least) + 1.0) * (least / counts)
    drawn = tf.random.uniform(tf.shape(counts), dtype=tf.float64, seed=seed)
    return tf.boolean_mask(words, drawn <= share)


def skip_gram_sample(
    input_tensor,
    min_skips=1,
    max_skips=5,
    start=0,
    limit=-1,
    emit_self_as_target=False,
    vocab_freq_table=None,
    vocab_min_count=None,
    vocab_subsampling=None,
    corpus_size=None,
    seed=None,
    name=None,
):
    """Return words, and others that stand near them, at random."""
    rest = (vocab_min_count, vocab_subsampling, corpus_size)
    if vocab_freq_table is None and any(each is not None for each in rest):
        raise ValueError("without vocab_freq_table there is nothing to count")
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError("vocab_subsampling and corpus_size are given both or not")
    words = usual_words(input_tensor, vocab_freq_table, *rest, seed)
    words = words[start:] if isinstance(limit, int) and limit < 0 else words
    if not (isinstance(limit, int) and limit < 0):
        end = tf.where(limit < 0, tf.size(words), start + limit)
        words = words[start:end]
    count = tf.size(words)
    skips = tf.random.uniform([count], min_skips, max_skips + 1, tf.int32, seed)
    steps = tf.range(-max_skips, max_skips + 1)[None]
    places = tf.range(count)[:, None] + steps
    is_pair = (tf.abs(steps) <= skips[:, None]) & (places >= 0) & (places < count)
    is_pair &= tf.logical_or(steps != 0, emit_self_as_target)
    here = tf.repeat(words[:, None], 2 * max_skips + 1, axis=1)
    there = tf.gather(words, tf.clip_by_value(places, 0, tf.maximum(count - 1, 0)))
    return tf.boolean_mask(here, is_pair), tf.boolean_mask(there, is_pair)


def skip_gram_sample_with_text_vocab(
    input_tensor,
    vocab_freq_file,
    vocab_token_index=0,
    vocab_token_dtype=tf.string,
    vocab_freq_index=1,
    vocab_freq_dtype=tf.float64,
    vocab_delimiter=",",
    vocab_min_count=None,
    vocab_subsampling=None,
    corpus_size=None,
    min_skips=1,
    max_skips=5,
    start=0,
    limit=-1,
    emit_self_as_target=False,
    seed=None,
    name=None,
):
    """Return words, and others that stand near them, as a file counts them."""
    token_column, count_column = vocab_token_index, vocab_freq_index
    if min(token_column, count_column) < 0 or token_column == count_column:
        raise ValueError("columns of tokens and of counts are two, from 0")
    with tf.io.gfile.GFile(vocab_freq_file, mode="r") as file:
        rows = list(csv.reader(file, delimiter=vocab_delimiter))
    if any(max(token_column, count_column) >= len(row) for row in rows):
        raise ValueError("a row has too few columns")
    counts = [vocab_freq_dtype.as_numpy_dtype(row[count_column]) for row in rows]
    if any(count < 0 for count in counts):
        raise ValueError("a count is negative")
    if corpus_size and sum(counts) - corpus_size > 1e-6:
        raise ValueError(f"`corpus_size`={corpus_size} is less than {sum(counts)}")
    initializer = tf.lookup.TextFileInitializer(
        vocab_freq_file,
        vocab_token_dtype,
        token_column,
        vocab_freq_dtype,
        count_column,
        len(rows),
        vocab_delimiter,
    )
    return skip_gram_sample(
        input_tensor,
        min_skips,
        max_skips,
        start,
        limit,
        emit_self_as_target,
        tf.lookup.StaticHashTable(initializer, -1),
        vocab_min_count,
        vocab_subsampling,
        None if vocab_subsampling is None else corpus_size or sum(counts),
        seed,
    )


def time_pattern(time_format):
    """Return the regular expression of a format of times."""
    for short, long in (
        ("T", "H:%M:%S"),
        ("R", "H:%M"),
        ("D", "m/%d/%y"),
        ("F", "Y-%m-%d"),
    ):
        time_format = time_format.replace(f"%{short}", f"%{long}")
    names = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
    month, number = rf"(?P<name>{names})[a-z]*", r"\d{1,2}"
    known = {
        **{each: rf"(?P<{each}>{number})" for each in "mHMIS"},
        **dict.fromkeys(("d", "e"), rf"\s*(?P<d>{number})"),
        **dict.fromkeys(("b", "B", "h"), month),
        **dict.fromkeys(("a", "A"), "(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*"),
        **dict.fromkeys(("z", "Ez", "E*z"), r"(?P<z>[+-]\d\d(?::?\d\d)*|z)"),
        **dict.fromkeys(("n", "t"), r"\s*"),
        "Y": r"(?P<Y>[+-]?\d+)",
        "E4Y": r"(?P<Y>\d{4}|[+-]\d{3})",
        "y": r"(?P<y>\d\d)",
        "p": "(?P<p>am|pm)",
        "Z": r"\S+",
        "s": r"(?P<s>[+-]?\d+)",
        "%": "%",
    }
    parts = re.split(r"(%E[*#\d][Szf]|%E\dY|%Ez|%.|\s+)", time_format)
    found = ""
    for part in parts:
        if part.startswith("%E") and part[-1] in "Sf":
            whole = rf"(?P<S>{number})(?:\.(?P<f>\d+))?"
            found += whole if part[-1] == "S" else r"(?P<f>\d+)"
        elif part.startswith("%"):
            found += known[part[1:]]
        else:
            found += r"\s*" if part.isspace() else re.escape(part)
    return re.compile(rf"\s*{found}\s*", re.IGNORECASE)


def nanoseconds(text, pattern):
    """Return the time of a text, since 1970."""
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no time of this format")
    found = {name: each for name, each in match.groupdict().items() if each}
    if "s" in found:
        return int(found["s"]) * 10**9
    default = {"Y": 1970, "m": 1, "d": 1, "H": 0, "M": 0, "S": 0}
    at = {name: int(found.get(name, each)) for name, each in default.items()}
    if "y" in found:
        at["Y"] = int(found["y"]) + (1900 if int(found["y"]) > 68 else 2000)
    if "name" in found:
        names = "janfebmaraprmayjunjulaugsepoctnovdec"
        at["m"] = names.index(found["name"].lower()) // 3 + 1
    if "I" in found:
        late = 12 * (found.get("p", "").lower() == "pm")
        at["H"] = int(found["I"]) % 12 + late
    seconds, is_leap = at["S"], at["S"] == 60
    if at["H"] > 23 or at["M"] > 59 or seconds > 60:
        raise ValueError(f"{text!r} is out of range")
    date = "{Y:04}-{m:02}-{d:02}".format(**at)
    days = int(np.datetime64(date, "D").astype("int64"))
    seconds += ((days * 24 + at["H"]) * 60 + at["M"]) * 60
    zone = found.get("z", "z").replace(":", "")
    if zone.lower() != "z":
        sizes = (3600, 60, 1)
        pairs = [int(zone[place : place + 2]) for place in range(1, len(zone), 2)]
        offset = sum(size * pair for size, pair in zip(sizes, pairs))
        seconds += offset if zone[0] == "-" else -offset
    part = "" if is_leap else found.get("f", "")
    return seconds * 10**9 + int(f"{part[:9]:0<9}")


def parse_time(time_string, time_format, output_unit):
    """Return the time of texts since 1970, in a unit, as integers."""
    units = {"SECOND": 10**9, "MILLISECOND": 10**6, "MICROSECOND": 10**3}
    units["NANOSECOND"] = 1
    if output_unit not in units:
        raise ValueError(f"output_unit is one of {', '.join(units)}: {output_unit}")
    pattern = time_pattern(time_format)

    def parsed(texts):
        texts = np.asarray(texts, object)
        times = [nanoseconds(text.decode(), pattern) for text in texts.ravel()]
        whole = [each // units[output_unit] for each in times]
        return np.array(whole, "int64").reshape(texts.shape)

    texts = tf.convert_to_tensor(time_string, tf.string)
    return tf.ensure_shape(tf.numpy_function(parsed, [texts], tf.int64), texts.shape)
