DROP INDEX `apps_uncovered`;--> statement-breakpoint
ALTER TABLE `apps` ADD `name` text;--> statement-breakpoint
ALTER TABLE `apps` ADD `success_low` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `apps_name` ON `apps` (`maker`,`name`) WHERE "apps"."name" is not null and "apps"."closed" is null;--> statement-breakpoint
CREATE INDEX `apps_listed_names` ON `apps` (`name`,`success_low`,`listed_at`,`id`) WHERE "apps"."name" is not null and "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_record` ON `apps` (`success_low`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_record_kind` ON `apps` (`kind`,`success_low`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_record_shelf` ON `apps` (`shelf`,`success_low`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_record_remix` ON `apps` (`remix`,`success_low`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_uncovered` ON `apps` (`updated`,`id`) WHERE "apps"."cover_version" < "apps"."version" and not "apps"."cover_given" and "apps"."name" is null and "apps"."closed" is null and "apps"."taken_down" is null;--> statement-breakpoint
ALTER TABLE `versions` ADD `folder` text;