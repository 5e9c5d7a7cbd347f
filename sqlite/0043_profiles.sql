CREATE TABLE `profiles` (
	`person` text PRIMARY KEY NOT NULL,
	`handle` text NOT NULL,
	`skeleton` text NOT NULL,
	`former_handle` text,
	`former_skeleton` text,
	`about` text,
	`public` integer NOT NULL,
	`shows` text NOT NULL,
	`avatar` text,
	`avatar_bytes` text,
	`created` integer NOT NULL,
	`hidden` integer,
	`hidden_for` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `profiles_handle_unique` ON `profiles` (`handle`);--> statement-breakpoint
CREATE UNIQUE INDEX `profiles_skeleton_unique` ON `profiles` (`skeleton`);--> statement-breakpoint
CREATE INDEX `profiles_former_handle` ON `profiles` (`former_handle`);--> statement-breakpoint
CREATE INDEX `profiles_former_skeleton` ON `profiles` (`former_skeleton`);