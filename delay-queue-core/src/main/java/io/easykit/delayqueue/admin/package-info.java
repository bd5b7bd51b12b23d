/** Administration of topics, nodes and messages, for consoles, endpoints and programs of operators. */
@NullMarked
package io.easykit.delayqueue.admin;

import org.jspecify.annotations.NullMarked;
