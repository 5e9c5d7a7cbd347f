ALTER TABLE `app_error_networks` ADD `early` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `app_error_networks` ADD `times` integer DEFAULT 1 NOT NULL;