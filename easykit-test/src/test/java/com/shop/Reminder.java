package com.shop;

public record Reminder(String customer, String text) {}
