# SPDX-FileCopyrightText: the memtrace authors
# SPDX-License-Identifier: Apache-2.0
"""torchtitan's own training, with the options that its command line takes, in the folder that make_data.py filled."""

from job_end import end
from torchtitan.train import Trainer, main


class MeasuredTrainer(Trainer):
    """Prints the rank's memory before torchtitan ends the job."""

    def close(self) -> None:
        super().close()
        end()


main(MeasuredTrainer)
