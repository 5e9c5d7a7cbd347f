CREATE TABLE `consents` (
	`app` text NOT NULL,
	`person` text NOT NULL,
	`uses` text NOT NULL,
	`daily_cap` integer NOT NULL,
	`remembered` integer NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`app`, `person`)
);
--> statement-breakpoint
CREATE INDEX `consents_person` ON `consents` (`person`,`at`);--> statement-breakpoint
ALTER TABLE `versions` ADD `uses` text;