ALTER TABLE "reports" ADD COLUMN "person" text;--> statement-breakpoint
ALTER TABLE "notes" ADD COLUMN "messages" text;--> statement-breakpoint
ALTER TABLE "people" ADD COLUMN "language" text;