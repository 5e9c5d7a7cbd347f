CREATE TABLE `app_turns` (
	`app` text PRIMARY KEY NOT NULL,
	`cost` integer NOT NULL,
	`turns` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `consents` ADD `margin` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `apps` ADD `ai_margin` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `entries_margin` ON `entries` (`account`,`at`) WHERE "entries"."kind" = 'margin';