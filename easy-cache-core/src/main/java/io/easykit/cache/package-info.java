@NullMarked
package io.easykit.cache;

import org.jspecify.annotations.NullMarked;
