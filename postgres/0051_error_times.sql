ALTER TABLE "app_error_networks" ADD COLUMN "early" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "app_error_networks" ADD COLUMN "times" bigint DEFAULT 1 NOT NULL;