CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`owner` text NOT NULL,
	`name` text NOT NULL,
	`daily_cap` integer,
	`weekly_cap` integer,
	`monthly_cap` integer,
	`created` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `projects_name` ON `projects` (`owner`,`name`);--> statement-breakpoint
ALTER TABLE `keys` ADD `expires` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `note` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `tags` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `models` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `weekly_cap` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `monthly_cap` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `requests_per_minute` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `tokens_per_minute` integer;--> statement-breakpoint
ALTER TABLE `keys` ADD `project` text;--> statement-breakpoint
ALTER TABLE `holds` ADD `cap_group` text;