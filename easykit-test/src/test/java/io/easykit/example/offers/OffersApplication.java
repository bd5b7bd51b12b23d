package io.easykit.example.offers;

import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
class OffersApplication {}
