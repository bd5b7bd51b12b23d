@NullMarked
package io.easykit.delayqueue.jackson;

import org.jspecify.annotations.NullMarked;
