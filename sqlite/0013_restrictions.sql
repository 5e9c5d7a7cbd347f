CREATE TABLE `restrictions` (
	`subject` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`created` integer NOT NULL
);
