"""`K.image_dim_ordering()`, which Keras 1 code mostly compares."""

import pytest

from kdoctor.engine import fix

VALUE = '("tf" if config.image_data_format() == "channels_last" else "th")'


def mended(line: str) -> str:
    source = f"from keras import backend as K\n{line}\n"
    result = fix(["-"], stdin=source.encode(), target="keras==3.15.1")
    return result.files[0].after.decode().splitlines()[-1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = K.image_dim_ordering() == 'th'", "a = config.image_data_format() == 'channels_first'"),
        ("a = (K.image_dim_ordering()) != 'tf'", "a = (config.image_data_format()) != 'channels_last'"),
        ('a = "tf" == K.image_dim_ordering()', 'a = "channels_last" == config.image_data_format()'),
        ('a = f"{K.image_dim_ordering() == \'tf\'}"', 'a = f"{config.image_data_format() == \'channels_last\'}"'),
    ],
)  # fmt: skip
def test_it_is_compared_with_the_name_of_today(before: str, after: str) -> None:
    assert mended(before) == after


@pytest.mark.parametrize(
    "line",
    [
        "a = {} == mine",
        "a = {} == 'th' == mine",
        "a = {} in ('th', 'tf')",
        "a = {} == 'channels_last'",
        "a = {} == b'th'",
    ],
)
def test_elsewhere_it_gives_what_it_gave(line: str) -> None:
    assert mended(line.format("K.image_dim_ordering()")) == line.format(VALUE)
