CREATE TABLE `leases` (
	`name` text PRIMARY KEY NOT NULL,
	`process` text NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `limit_windows` (
	`name` text PRIMARY KEY NOT NULL,
	`window_ms` integer NOT NULL,
	`start` integer NOT NULL,
	`now` integer NOT NULL,
	`before` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `replicas` (
	`id` text PRIMARY KEY NOT NULL,
	`folder` text NOT NULL,
	`version` text NOT NULL,
	`since` integer NOT NULL,
	`seen` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `shared_values` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
ALTER TABLE `answers` ADD `process` text;--> statement-breakpoint
ALTER TABLE `holds` ADD `caller` text;--> statement-breakpoint
CREATE INDEX `holds_caller` ON `holds` (`caller`) WHERE "holds"."state" = 'held' and "holds"."caller" is not null;