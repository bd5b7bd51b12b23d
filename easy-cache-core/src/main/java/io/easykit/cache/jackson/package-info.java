/** Values as JSON, by the declared generic type, with Jackson 3. */
@NullMarked
package io.easykit.cache.jackson;

import org.jspecify.annotations.NullMarked;
