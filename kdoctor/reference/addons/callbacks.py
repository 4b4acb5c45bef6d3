"""Callbacks of tensorflow_addons."""

import collections
import datetime
import time

import keras


@keras.saving.register_keras_serializable("Addons", "TimeStopping")
class TimeStopping(keras.callbacks.Callback):
    """Stop a training after some seconds, at the end of an epoch."""

    def __init__(self, seconds=86400, verbose=0):
        super().__init__()
        self.seconds, self.verbose = seconds, verbose
        self.stopped_epoch = None

    def on_train_begin(self, logs=None):
        """Say when it is time."""
        self.stopping_time = time.time() + self.seconds

    def on_epoch_end(self, epoch, logs=None):
        """Stop if it is time."""
        if time.time() >= self.stopping_time:
            self.model.stop_training = True
            self.stopped_epoch = epoch

    def on_train_end(self, logs=None):
        """Say that it was stopped."""
        if self.stopped_epoch is not None and self.verbose > 0:
            epoch, length = self.stopped_epoch + 1, self.seconds
            length = datetime.timedelta(seconds=length)
            print(f"Timed stopping at epoch {epoch} after training for {length}")

    def get_config(self):
        """Return the arguments."""
        return {"seconds": self.seconds, "verbose": self.verbose}


@keras.saving.register_keras_serializable("Addons", "TQDMProgressBar")
class TQDMProgressBar(keras.callbacks.Callback):
    """Show how far a training is by the bars of tqdm, which must be installed."""

    def __init__(
        self,
        metrics_separator=" - ",
        overall_bar_format="{l_bar}{bar} {n_fmt}/{total_fmt} ETA: {remaining}s,  "
        "{rate_fmt}{postfix}",
        epoch_bar_format="{n_fmt}/{total_fmt}{bar} ETA: {remaining}s - {desc}",
        metrics_format="{name}: {value:0.4f}",
        update_per_second=10,
        leave_epoch_progress=True,
        leave_overall_progress=True,
        show_epoch_progress=True,
        show_overall_progress=True,
    ):
        from tqdm.auto import tqdm

        super().__init__()
        self.tqdm, self.metrics_separator = tqdm, metrics_separator
        self.overall_bar_format = overall_bar_format
        self.epoch_bar_format = epoch_bar_format
        self.metrics_format = metrics_format
        self.update_per_second = update_per_second
        self.leave_epoch_progress = leave_epoch_progress
        self.leave_overall_progress = leave_overall_progress
        self.show_epoch_progress = show_epoch_progress
        self.show_overall_progress = show_overall_progress
        self.last_update_time = time.time()
        self.is_training = False

    def begin(self, description, *, prints=False):
        """Begin a bar of steps."""
        self.seen, self.new = 0, 0
        self.sums, self.steps = collections.defaultdict(float), self.params["steps"]
        if not self.show_epoch_progress:
            return
        if prints:
            print(description)
        self.steps_bar = self.tqdm(
            total=self.steps,
            desc=None if prints else description,
            bar_format=self.epoch_bar_format,
            leave=self.leave_epoch_progress,
            dynamic_ncols=True,
            unit="steps",
        )

    def step(self, logs):
        """Count a step, and show it if it is time to."""
        self.seen, self.new = self.seen + 1, self.new + 1
        if self.steps is not None and self.seen > self.steps:
            return
        for name, value in (logs or {}).items():
            self.sums[name] += value
        now = time.time()
        since = now - self.last_update_time
        if self.show_epoch_progress and since >= 1 / self.update_per_second:
            self.steps_bar.desc = self.format_metrics(self.sums, self.seen)
            self.steps_bar.update(self.new)
            self.new, self.last_update_time = 0, now

    def end(self, logs, factor=1):
        """End a bar of steps."""
        if self.show_epoch_progress:
            self.steps_bar.desc = self.format_metrics(logs, factor)
            self.steps_bar.miniters = self.steps_bar.mininterval = 0
            self.steps_bar.update((self.steps or self.seen) - self.steps_bar.n)
            self.steps_bar.close()

    def on_train_begin(self, logs=None):
        """Begin the bar of epochs."""
        self.is_training = True
        if self.show_overall_progress:
            self.epochs_bar = self.tqdm(
                desc="Training",
                total=self.params["epochs"],
                bar_format=self.overall_bar_format,
                leave=self.leave_overall_progress,
                dynamic_ncols=True,
                unit="epochs",
            )

    def on_train_end(self, logs=None):
        """End the bar of epochs."""
        self.is_training = False
        if self.show_overall_progress:
            self.epochs_bar.close()

    def on_test_begin(self, logs=None):
        """Begin the bar of an evaluation by itself."""
        if not self.is_training:
            self.begin("Evaluating")

    def on_test_end(self, logs=None):
        """End the bar of an evaluation by itself."""
        if not self.is_training:
            self.end(self.sums, self.seen)

    def on_epoch_begin(self, epoch, logs=None):
        """Begin the bar of an epoch."""
        self.begin(f"Epoch {epoch + 1}/{self.params['epochs']}", prints=True)

    def on_epoch_end(self, epoch, logs=None):
        """End the bar of an epoch."""
        self.end(logs or {})
        if self.show_overall_progress:
            self.epochs_bar.update(1)

    def on_test_batch_end(self, batch, logs=None):
        """Count a step of an evaluation by itself."""
        if not self.is_training:
            self.step(logs)

    def on_train_batch_end(self, batch, logs=None):
        """Count a step."""
        self.step(logs)

    def format_metrics(self, logs, factor=1):
        """Return metrics as they are shown."""
        shown = (
            self.metrics_format.format(name=name, value=value / factor)
            for name, value in logs.items()
            if name not in {"batch", "size"}
        )
        return self.metrics_separator.join(shown)

    def get_config(self):
        """Return the arguments."""
        names = ("metrics_separator", "overall_bar_format", "epoch_bar_format")
        names += ("metrics_format", "update_per_second", "leave_epoch_progress")
        names += ("leave_overall_progress", "show_epoch_progress")
        return {name: getattr(self, name) for name in (*names, "show_overall_progress")}
