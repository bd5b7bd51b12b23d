@NullMarked
package io.easykit.delayqueue.store;

import org.jspecify.annotations.NullMarked;
