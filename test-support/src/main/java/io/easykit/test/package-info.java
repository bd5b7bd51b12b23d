@NullMarked
package io.easykit.test;

import org.jspecify.annotations.NullMarked;
