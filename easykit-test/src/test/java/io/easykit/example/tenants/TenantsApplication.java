package io.easykit.example.tenants;

import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
class TenantsApplication {}
