package io.easykit.example.catalog;

import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
class CatalogApplication {}
