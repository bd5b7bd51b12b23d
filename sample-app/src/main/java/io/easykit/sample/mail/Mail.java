package io.easykit.sample.mail;

/** A mail to the customer of an order. */
public record Mail(String orderId, String text) {}
