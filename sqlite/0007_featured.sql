CREATE TABLE `featured` (
	`item` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `apps_played` ON `apps` (`opens`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_played_kind` ON `apps` (`kind`,`opens`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_played_shelf` ON `apps` (`shelf`,`opens`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX `apps_played_remix` ON `apps` (`remix`,`opens`,`listed_at`,`id`) WHERE "apps"."listed" = 'on';