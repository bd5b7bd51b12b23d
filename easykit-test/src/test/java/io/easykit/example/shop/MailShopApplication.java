package io.easykit.example.shop;

import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
class MailShopApplication {}
