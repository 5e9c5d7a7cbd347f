CREATE TABLE `audience_members` (
	`app` text NOT NULL,
	`kind` text NOT NULL,
	`member` text NOT NULL,
	PRIMARY KEY(`app`, `kind`, `member`)
);
--> statement-breakpoint
CREATE INDEX `audience_members_member` ON `audience_members` (`kind`,`member`);--> statement-breakpoint
CREATE TABLE `share_links` (
	`id` text PRIMARY KEY NOT NULL,
	`app` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`created` integer NOT NULL,
	`expires` integer,
	`used` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `share_links_hash_unique` ON `share_links` (`hash`);--> statement-breakpoint
CREATE INDEX `share_links_app` ON `share_links` (`app`,`created`);--> statement-breakpoint
CREATE TABLE `group_members` (
	`group` text NOT NULL,
	`person` text NOT NULL,
	`source` text NOT NULL,
	PRIMARY KEY(`group`, `person`, `source`)
);
--> statement-breakpoint
CREATE INDEX `group_members_person` ON `group_members` (`person`,`group`);--> statement-breakpoint
ALTER TABLE `apps` ADD `audience` text DEFAULT 'public' NOT NULL;--> statement-breakpoint
ALTER TABLE `apps` ADD `expires` integer;--> statement-breakpoint
ALTER TABLE `apps` ADD `password` text;--> statement-breakpoint
ALTER TABLE `apps` ADD `access` integer DEFAULT 0 NOT NULL;