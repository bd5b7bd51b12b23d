package io.easykit.delayqueue.store;

import io.easykit.delayqueue.Due;

public record Move(Target target, Due due) {}
