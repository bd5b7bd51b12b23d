@NullMarked
package io.easykit.delayqueue;

import org.jspecify.annotations.NullMarked;
