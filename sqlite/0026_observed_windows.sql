CREATE TABLE `observed_windows` (
	`process` text NOT NULL,
	`name` text NOT NULL,
	`at` integer NOT NULL,
	`counts` text NOT NULL,
	PRIMARY KEY(`process`, `name`, `at`)
);
--> statement-breakpoint
CREATE INDEX `observed_windows_at` ON `observed_windows` (`name`,`at`);