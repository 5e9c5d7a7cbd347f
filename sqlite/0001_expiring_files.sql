ALTER TABLE `gateway_files` ADD `expires` integer;--> statement-breakpoint
CREATE INDEX `gateway_files_expires` ON `gateway_files` (`expires`);