/** Parcels of paid orders: booked over HTTP at a carrier that limits its calls. */
@NullMarked
package io.easykit.sample.parcel;

import org.jspecify.annotations.NullMarked;
