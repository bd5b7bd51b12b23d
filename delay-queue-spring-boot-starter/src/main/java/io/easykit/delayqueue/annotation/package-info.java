/** What an application writes on its methods. */
@NullMarked
package io.easykit.delayqueue.annotation;

import org.jspecify.annotations.NullMarked;
