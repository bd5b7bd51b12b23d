@NullMarked
package io.easykit.delayqueue.engine;

import org.jspecify.annotations.NullMarked;
