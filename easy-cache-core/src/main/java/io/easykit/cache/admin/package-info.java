/** What an operator may see of the cache and do with it. Nothing here is needed to cache. */
@NullMarked
package io.easykit.cache.admin;

import org.jspecify.annotations.NullMarked;
