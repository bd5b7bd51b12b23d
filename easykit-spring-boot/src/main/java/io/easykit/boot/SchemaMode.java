package io.easykit.boot;

/** When the tables of a product are created, as in Spring Boot's own starters. */
public enum SchemaMode {

    /** In an embedded database only. */
    EMBEDDED,

    ALWAYS,

    NEVER
}
