CREATE TABLE `observed_hours` (
	`at` integer PRIMARY KEY NOT NULL,
	`traffic` text NOT NULL,
	`totals` text NOT NULL
);
