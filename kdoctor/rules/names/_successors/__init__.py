"""Names that another name stands for, though no release had one object under both.

``SUCCESSORS`` are rewrites, the first that fits is taken. ``IN_TF_KERAS`` are names that only
`tf.keras` still has, with the groups of examples that compared them, ``UNLIKE`` what is another
thing there. ``BY_HAND`` says what to write where no rewrite can. ``HELD`` are functions that moved
and give another type. All names are under ``keras``; they hold under each root.
"""

from __future__ import annotations

from kdoctor.rules.names._successors import keras1, layers, own_config, training, utilities
from kdoctor.rules.names._successors.advice import BY_HAND as BY_HAND
from kdoctor.rules.names._successors.advice import told_by_hand as told_by_hand
from kdoctor.rules.names._successors.preprocessing import IN_TF_KERAS as IN_TF_KERAS
from kdoctor.rules.names._successors.preprocessing import UNLIKE as UNLIKE
from kdoctor.rules.names._successors.result_dtype import HELD as HELD
from kdoctor.rules.names._successors.successor import Successor as Successor

SUCCESSORS = (*own_config.ROWS, *layers.ROWS, *keras1.ROWS, *utilities.ROWS, *training.ROWS)
