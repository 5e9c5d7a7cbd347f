CREATE TABLE `app_error_networks` (
	`app` text NOT NULL,
	`network` text NOT NULL,
	`day` text NOT NULL,
	`version` integer NOT NULL,
	`hash` text NOT NULL,
	PRIMARY KEY(`app`, `network`, `day`, `version`, `hash`)
);
--> statement-breakpoint
CREATE INDEX `app_error_networks_hash` ON `app_error_networks` (`app`,`version`,`hash`);--> statement-breakpoint
CREATE INDEX `app_error_networks_day` ON `app_error_networks` (`day`);--> statement-breakpoint
CREATE TABLE `app_errors` (
	`app` text NOT NULL,
	`version` integer NOT NULL,
	`hash` text NOT NULL,
	`browser` text NOT NULL,
	`kind` text NOT NULL,
	`text` text NOT NULL,
	`file` text NOT NULL,
	`line` integer NOT NULL,
	`column` integer NOT NULL,
	`count` integer NOT NULL,
	`first` integer NOT NULL,
	`last` integer NOT NULL,
	`shown` integer,
	PRIMARY KEY(`app`, `version`, `hash`, `browser`)
);
--> statement-breakpoint
CREATE INDEX `app_errors_last` ON `app_errors` (`last`);--> statement-breakpoint
ALTER TABLE `apps` ADD `live` integer DEFAULT false NOT NULL;