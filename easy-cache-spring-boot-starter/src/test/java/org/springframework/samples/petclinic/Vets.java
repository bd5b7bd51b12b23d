package org.springframework.samples.petclinic;

import io.easykit.cache.annotation.UpdateCache;

/** A bean of an application in a package below Spring's. */
public class Vets {

    @UpdateCache(prefix = "vets", keys = "#id")
    public void rename(long id) {}
}
