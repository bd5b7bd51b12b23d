@NullMarked
package io.easykit.delayqueue.admin;

import org.jspecify.annotations.NullMarked;
