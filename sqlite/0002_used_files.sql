ALTER TABLE `gateway_files` ADD `used` integer;--> statement-breakpoint
CREATE INDEX `gateway_files_used` ON `gateway_files` (`used`);