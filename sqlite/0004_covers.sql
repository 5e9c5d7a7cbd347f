CREATE TABLE `screenshots` (
	`app` text NOT NULL,
	`position` integer NOT NULL,
	`large` text NOT NULL,
	`small` text NOT NULL,
	`created` integer NOT NULL,
	PRIMARY KEY(`app`, `position`)
);
--> statement-breakpoint
CREATE INDEX `screenshots_large` ON `screenshots` (`large`);--> statement-breakpoint
CREATE INDEX `screenshots_small` ON `screenshots` (`small`);--> statement-breakpoint
ALTER TABLE `apps` ADD `cover` text;--> statement-breakpoint
ALTER TABLE `apps` ADD `cover_small` text;--> statement-breakpoint
ALTER TABLE `apps` ADD `cover_color` text;--> statement-breakpoint
ALTER TABLE `apps` ADD `cover_given` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `apps` ADD `cover_version` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `apps_cover` ON `apps` (`cover`);--> statement-breakpoint
CREATE INDEX `apps_cover_small` ON `apps` (`cover_small`);--> statement-breakpoint
CREATE INDEX `apps_uncovered` ON `apps` (`updated`,`id`) WHERE "apps"."cover_version" < "apps"."version" and not "apps"."cover_given" and "apps"."closed" is null and "apps"."taken_down" is null;