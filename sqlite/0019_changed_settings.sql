CREATE TABLE `changed_settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text,
	`before` text,
	`by` text NOT NULL,
	`at` integer NOT NULL
);
