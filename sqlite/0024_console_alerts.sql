CREATE TABLE `alerts` (
	`name` text PRIMARY KEY NOT NULL,
	`text` text NOT NULL,
	`since` integer NOT NULL,
	`seen` integer NOT NULL,
	`resolved` integer,
	`is_sent` integer NOT NULL,
	`tries` integer NOT NULL,
	`problem` text
);
--> statement-breakpoint
CREATE INDEX `caps_day` ON `caps` (`day`);--> statement-breakpoint
CREATE INDEX `use_counts_day` ON `use_counts` (`day`);